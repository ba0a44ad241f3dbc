"""Arguments that say where and how a tensor is kept, not what it is."""

STORAGE = {
    "requires_grad",
    "device",
    "generator",
    "layout",
    "pin_memory",
    "memory_format",
    "non_blocking",
    "copy",
}
