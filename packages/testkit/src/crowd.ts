// Clients that open many connections and keep them, and one that comes with a connection of its own.
import { request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface Crowd {
  /** How many of its connections are open. */
  readonly open: number
  close(): void
}

interface CrowdOptions {
  readonly count: number
  /** What each of them sends. */
  readonly bytes: string
  /** `data` where what they send is answered. */
  readonly until: 'connect' | 'data'
}

/** Resolves once each connection has come as far as `until`, or was closed. */
export async function openCrowd(
  url: string,
  { count, bytes, until }: CrowdOptions,
): Promise<Crowd> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  const join = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(bytes))
      open.add(socket)
      socket.once(until, () => resolve())
      socket.on('data', () => undefined)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        resolve()
      })
    })
  await Promise.all(Array.from({ length: count }, join))
  return {
    get open() {
      return open.size
    },
    close() {
      for (const socket of open) socket.destroy()
    },
  }
}

/** The status of a GET over a connection that nobody used before. Rejects where the connection is refused or cut. */
export const fetchAfresh = (
  url: string,
  headers: Record<string, string> = {},
  localAddress?: string,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const from = localAddress === undefined ? {} : { localAddress }
    const sent = request(url, { agent: false, headers, ...from }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end()
  })

const IDLE = 600
const TIMES = 10

/**
 * Opens 600 connections of one address to `url`, each asked once and idle since, and asks each of `urls` ten times from another address,
 * every time over a new connection. Answers the statuses and, of each URL, the fastest answer: a busy machine only ever adds.
 */
export async function askBesideCrowd(
  url: string,
  urls: Readonly<Record<string, Record<string, string>>>,
): Promise<{ readonly statuses: ReadonlySet<number>; readonly fastestMs: readonly number[] }> {
  const bytes = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'
  const crowd = await openCrowd(url, { count: IDLE, bytes, until: 'data' })
  const statuses = new Set<number>()
  const fastestMs: number[] = []
  try {
    for (const [asked, headers] of Object.entries(urls)) {
      let fastest = Infinity
      for (let time = 0; time < TIMES; time += 1) {
        const startedAt = performance.now()
        statuses.add(await fetchAfresh(asked, headers, '127.0.0.2'))
        fastest = Math.min(fastest, performance.now() - startedAt)
      }
      fastestMs.push(fastest)
    }
    return { statuses, fastestMs }
  } finally {
    crowd.close()
  }
}
