#!/bin/sh
# What generated C computes of the small built-in models is what plain numpy computes, written from the papers. ctest: Og
. "$SOURCE/tests/models/oracle.sh"
check bert-tiny batch=2 seq=9
check bert-tiny batch=1 seq=128
check gpt2-tiny batch=2 seq=6
check gpt2-tiny batch=2 seq=3 past=4 last=1
check resnet-tiny batch=2 size=32
check resnet-tiny batch=1 size=45
check vae-tiny batch=2 size=4
check vae-tiny batch=1 size=3
