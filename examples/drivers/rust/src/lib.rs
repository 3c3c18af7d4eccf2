//! A server of leases with a fenced store.

#[derive(Default)]
pub struct Server {
    pub owner: Option<i64>,
    pub tokens: i64,
    pub highest: i64,
}

impl Server {
    pub fn acquire(&mut self, client: i64) -> Result<i64, &'static str> {
        if self.owner.is_some() {
            return Err("denied");
        }
        self.owner = Some(client);
        self.tokens += 1;
        Ok(self.tokens)
    }

    pub fn expire(&mut self) {
        self.owner = None;
    }

    pub fn write(&mut self, token: i64) -> Result<(), &'static str> {
        if token < 1 || token < self.highest {
            return Err("denied");
        }
        self.highest = token;
        Ok(())
    }
}
