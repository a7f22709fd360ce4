"""What the machine at hand computes well."""

import torch


def device() -> torch.device:
    """The first CUDA device, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def dtype(precision: str) -> torch.dtype:
    """The type of the computation for `precision` fp32, bf16 or auto: bf16 where the hardware multiplies in it."""
    if precision == "auto":
        if torch.cuda.is_available():
            fast = torch.cuda.is_bf16_supported(including_emulation=False)
        else:
            fast = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        precision = "bf16" if fast else "fp32"
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
