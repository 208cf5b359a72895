pub fn run(_args: &[String]) -> anyhow::Result<()> {
    anyhow::bail!("demo: not written yet")
}
