/** The target of an attack: the server of one organization, with the keys of the attacker. */
export interface Target {
  readonly url: string
  readonly admin: string
  /** A key of the role `read`. */
  readonly read: string
}

/** A load that one organization can put on a shared server. */
export interface Attack {
  /** Prepares rules and entries, before the measurement. */
  readonly prepare?: (target: Target) => Promise<void>
  /** Sends until `signal` aborts; `count` is called with the status of each response. */
  run(target: Target, signal: AbortSignal, count: (status: number) => void): Promise<void>
}

interface Sent {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly key?: string
  /** JSON, as a value or as text. */
  readonly body?: object | string
  readonly signal?: AbortSignal
}

/**
 * Sends one request, reads its response completely and returns the status; 0 without a response.
 */
export async function send(
  { url }: Pick<Target, 'url'>,
  { method = 'POST', path, key, body, signal }: Sent,
): Promise<number> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    for await (const _ of response.body ?? []);
    return response.status
  } catch {
    return 0
  }
}

/** Sends a request that must succeed, to prepare an attack. */
export async function sendOk(target: Target, sent: Sent): Promise<void> {
  const sendOnce = () => send(target, { key: target.admin, ...sent })
  let status = await sendOnce()
  // The server delays this answer, so that no pause is needed here.
  while (status === 429) status = await sendOnce()
  if (status < 200 || status > 299) throw new Error(`${sent.path} was answered with ${status}`)
}

/** Keeps `parallel` requests running until `signal` aborts. */
export async function keepSending(
  parallel: number,
  signal: AbortSignal,
  sendOne: (turn: number) => Promise<number>,
  count: (status: number) => void,
): Promise<void> {
  let turn = 0
  const one = async () => {
    while (!signal.aborted) count(await sendOne(turn++))
  }
  await Promise.all(Array.from({ length: parallel }, one))
}
