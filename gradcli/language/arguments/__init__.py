"""The arguments of a request beside its program: values, seeds, shapes, integer inputs."""
