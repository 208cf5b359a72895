//! Link arguments of the shared library: its ABI name, that it is never unloaded (it owns threads'
//! state and mappings), a build-id for debuggers, and no undefined symbols.
fn main() {
    for arg in ["-soname,libmpi_abi.so.1", "-z,nodelete", "--build-id=sha1", "--no-undefined"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{arg}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
