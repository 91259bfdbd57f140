"""PyTorch on a CUDA device, by torch.compile.
The networks are spelled in _torch_cuda.py."""
from _torch_cuda import Networks
from _peer import serve

serve(Networks("compile"))
