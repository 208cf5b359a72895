pub fn run(_args: &[String]) -> anyhow::Result<()> {
    anyhow::bail!("layers: not written yet")
}
