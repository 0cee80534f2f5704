// A reader of a stream over server-sent events, who leaves after some chunks or at the end.

export interface ReadChunk {
  readonly seq: number
  readonly kind: string
  readonly content: unknown
}

export interface ReadStream {
  readonly chunks: readonly ReadChunk[]
  /** How it ended; undefined for who left before, or lost the connection. */
  readonly end: Readonly<Record<string, unknown>> | undefined
}

interface Reading {
  readonly url: string
  readonly key: string
  readonly handoffId: string
  /** The last chunk that the reader has. */
  readonly after?: number
  /** Leaves once it has so many. */
  readonly chunksMax?: number
  onChunk?(): void
}

const followRequest = ({ url, key, handoffId, after = 0 }: Reading, signal?: AbortSignal) =>
  fetch(`${url}/v2/handoffs/${handoffId}/chunks`, {
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      ...(after === 0 ? {} : { 'last-event-id': String(after) }),
    },
    ...(signal === undefined ? {} : { signal }),
  })

/** Reads until the end of the stream, or until it has what it wants. */
export async function readStream(reading: Reading): Promise<ReadStream> {
  const { chunksMax = Infinity } = reading
  const leaving = new AbortController()
  const response = await followRequest(reading, leaving.signal)
  if (!response.ok || response.body === null)
    throw new Error(`${response.status} ${await response.text()}`)
  const chunks: ReadChunk[] = []
  let end: ReadStream['end']
  let text = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const events = `${text}${value}`.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined) continue
      if (event.includes('event: end')) end = JSON.parse(data) as ReadStream['end']
      else chunks.push(JSON.parse(data) as ReadChunk)
      reading.onChunk?.()
    }
    if (chunks.length < chunksMax) continue
    leaving.abort()
    break
  }
  return { chunks: chunks.slice(0, chunksMax), end }
}
