/** What the simulated server does with one request. */
export type ModelReply = GoodReply | RefusedReply | BrokenReply;

export type GoodReply = {
  readonly content?: string | null;
  /** Thinking text, in the field that reasoning models put it in. An empty string counts. */
  readonly reasoning?: string;
  /** Default: `reasoning_content`, as DeepSeek names it. Others name it `reasoning`. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning';
  readonly refusal?: string;
  /** `stop`, `length`, `content_filter`, `tool_calls`, or a server's own. */
  readonly finishReason?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
  /** Null: none is told. Default: a count of what was sent. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  /** Before the headers. Milliseconds. */
  readonly delayMs?: number;
  /** Between two chunks of a stream. Milliseconds. */
  readonly chunkDelayMs?: number;
  /** Characters of a chunk. Default 24. */
  readonly chunkSize?: number;
  /** Of a stream: after that many chunks nothing more comes, or the connection is reset. */
  readonly stallAfter?: number;
  readonly resetAfter?: number;
  /** Of a stream: after its chunks it ends with this error, as a server says it that has sent its status already. */
  readonly streamError?: unknown;
  /** Of a stream: after its chunks this line comes as it is. */
  readonly rawLine?: string;
  /** It does not stream, whatever it was asked for. */
  readonly whole?: boolean;
};

/** An answer with a status: 429 with `retry-after`, 500, 400 with a long body. */
export type RefusedReply = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type BrokenReply = { readonly broken: 'no-headers' | 'reset' };

export const json = (value: unknown): GoodReply => ({ content: JSON.stringify(value) });

/** The error body that OpenAI-compatible servers send. */
export function refused(status: number, message: string, more: Readonly<Record<string, unknown>> = {}): RefusedReply {
  const { headers, ...error } = more as { headers?: Readonly<Record<string, string>> };
  return {
    status,
    body: { error: { message, type: 'invalid_request_error', ...error } },
    ...(headers ? { headers } : {}),
  };
}
