"""PyTorch on a CUDA device, by torch.compile and one CUDA graph for a pass.
The networks are spelled in _torch_cuda.py."""
from _torch_cuda import Networks
from _peer import serve

serve(Networks("graph"))
