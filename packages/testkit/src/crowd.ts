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
export const fetchAfresh = (url: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end()
  })
