"""The other arguments of a request: values, seeds, shapes, integer inputs."""
