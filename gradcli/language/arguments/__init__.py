"""The arguments of a request other than its program: values, seeds, shapes, integer inputs."""
