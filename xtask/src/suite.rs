pub fn run(_args: &[String]) -> anyhow::Result<()> {
    anyhow::bail!("suite: not written yet")
}
