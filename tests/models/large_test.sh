#!/bin/sh
# The large built-in models against plain numpy, as oracle_test.sh has it for the small ones. ctest: long large timeout=1200
. "$SOURCE/tests/models/oracle.sh"
check minilm batch=2 seq=20
check bert-base batch=1 seq=128
check gpt2 batch=1 seq=20
check gpt2 batch=1 seq=1 past=31 last=1
check resnet-18 batch=1 size=224
check resnet-50 batch=2 size=97
check vae-decoder batch=1 size=8
