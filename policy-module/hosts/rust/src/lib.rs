//! The policy module in Rust, through wasmi.

use wasmi::{Engine, Error, Instance, Linker, Memory, Module, Store, TypedFunc};

/// The module, after `docs/policy-module.md`.
pub struct Policy {
    store: Store<()>,
    memory: Memory,
    alloc: TypedFunc<u32, u32>,
    call: TypedFunc<(u32, u32, u32), u64>,
    free: TypedFunc<u32, ()>,
}

impl Policy {
    /// Starts a module, which asks for nothing of its host.
    ///
    /// # Errors
    /// The bytes are no such module, or its contract is another one.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let module = Module::new(&engine, bytes)?;
        let instance: Instance = Linker::new(&engine).instantiate_and_start(&mut store, &module)?;
        let version: TypedFunc<(), u32> = instance.get_typed_func(&store, "version")?;
        if version.call(&mut store, ())? != 1 {
            return Err(Error::new("another contract"));
        }
        let memory = instance.get_memory(&store, "memory").ok_or(Error::new("no memory"))?;
        let alloc = instance.get_typed_func(&store, "alloc")?;
        let call = instance.get_typed_func(&store, "call")?;
        let free = instance.get_typed_func(&store, "free")?;
        Ok(Self { store, memory, alloc, call, free })
    }

    /// The answer to a request, both in JSON.
    ///
    /// # Errors
    /// There is no memory for the request.
    pub fn ask(&mut self, request: &[u8], limit: u32) -> Result<Vec<u8>, Error> {
        let length = u32::try_from(request.len()).map_err(|_| Error::new("too long"))?;
        let pointer = self.alloc.call(&mut self.store, length)?;
        if pointer == 0 {
            return Err(Error::new("no memory for the request"));
        }
        self.memory.write(&mut self.store, pointer as usize, request)?;
        let packed = self.call.call(&mut self.store, (pointer, length, limit))?;
        let (start, length) = ((packed >> 32) as u32, packed as u32);
        let mut answer = vec![0; length as usize];
        self.memory.read(&self.store, start as usize, &mut answer)?;
        self.free.call(&mut self.store, start)?;
        Ok(answer)
    }
}
