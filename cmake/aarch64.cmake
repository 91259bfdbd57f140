# A toolchain file: Tessera for AArch64, by Debian's cross compiler. ROOT is a folder with the libraries of such a machine,
# as tests/install/aarch64_root.sh makes one; tests run by qemu-user.
#   cmake -S . -B build-aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROOT)
if(ROOT)
    set(CMAKE_SYSROOT ${ROOT})
    set(CMAKE_FIND_ROOT_PATH ${ROOT})
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${ROOT})
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ROOT})
    set(ENV{PKG_CONFIG_LIBDIR} ${ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ROOT}/usr/share/pkgconfig)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # they run here
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
