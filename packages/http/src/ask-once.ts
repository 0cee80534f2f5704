// One request on a connection of its own, for whoever is asked seldom: no redirect is followed, and neither time nor size of the answer
// is theirs to choose.
import { Client } from 'undici'
import type { Tls } from '@baton/runtime'
import { connectOver } from './tls-client.ts'
import { tlsFailure } from './tls-failure.ts'

export interface AskOnce {
  /** How the server is spoken to. */
  readonly tls: Tls
  /** Whether it is of one's own installation, or others run it. */
  readonly whose: 'own' | 'others'
  /** Who is asked, as errors name it. */
  readonly name: string
  /** What is posted; nothing asks with GET. */
  readonly body?: string
  /** How long one request may take, its answer included. */
  readonly timeoutMs: number
  /** More than that of an answer is an error. */
  readonly bytesMax: number
}

/** Rejects where no answer comes whole and in time, with the transient BATON_TLS_REFUSED where one side does not believe the other. */
export async function askOnce(
  url: URL,
  { tls, whose, name, body, timeoutMs, bytesMax }: AskOnce,
): Promise<{ readonly status: number; readonly body: string }> {
  const client = new Client(url.origin, { allowH2: false, connect: connectOver(tls, whose) })
  try {
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: answer.statusCode, body: await boundedText(answer.body, bytesMax) }
  } catch (error) {
    throw tlsFailure(error, name) ?? error
  } finally {
    void client.destroy()
  }
}

async function boundedText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
