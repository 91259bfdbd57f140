"""Bandwidth of a copy on the device, bytes read and written a second: copy.py prints a number."""
import torch

ELEMENTS, TIMES = 1 << 28, 20

x = torch.empty(ELEMENTS, dtype=torch.float32, device="cuda")
y = torch.empty_like(x)
times = []
for _ in range(TIMES):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    y.copy_(x)
    end.record()
    torch.cuda.synchronize()
    times.append(start.elapsed_time(end) / 1e3)
print(2 * 4 * ELEMENTS / sorted(times)[TIMES // 2])
