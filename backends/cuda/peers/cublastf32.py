"""As cublas, in tf32: operands with 10 bits behind the point."""
from cublas import Cublas
from _peer import serve


class Narrow(Cublas):
    tf32 = True
    unverified = "operands of tf32 have 10 bits behind the point"


serve(Narrow())
