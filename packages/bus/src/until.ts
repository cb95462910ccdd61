/** Tests only: waits until a condition holds, or throws naming it. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 45_000,
): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
