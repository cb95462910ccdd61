/**
 * Asks once for all concurrent callers, and remembers the answer for `ms`: for what anybody may ask as often as they
 * like. A failure is not remembered.
 */
export function remember<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    if (answer) return answer;
    const asked = ask();
    const forget = () => {
      answer = undefined;
    };
    asked.then(() => setTimeout(forget, ms).unref(), forget);
    answer = asked;
    return asked;
  };
}
