/* write.h - where numbers lie in ONNX files that are written here: in the file itself as long as all of it stays below
 * what a message may have, else in a file beside it. Limits alone: nothing to own. */
#pragma once

/* protobuf ends at 2 GiB; bytes, so that pages can be mapped; smaller tensors stay in the file */
enum { ONNX_INLINE = 1 << 30, ONNX_ALIGNMENT = 4096, ONNX_SMALL = 1024 };
