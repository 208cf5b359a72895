pub fn run(_args: &[String]) -> anyhow::Result<()> {
    anyhow::bail!("install: not written yet")
}
