// A TCP link between a process and its server that a test can cut, silence, worsen and heal.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createFlow } from './link-flow.ts'
import { PERFECT } from './link-conditions.ts'
import type { Conditions } from './link-conditions.ts'

/** `up` is towards the server. */
export type Direction = 'up' | 'down' | 'both'

export interface Link {
  /** The URL of the target, with this link in between. */
  readonly url: string
  /** Ends all connections and refuses new ones, as a server that is down does. */
  cut(): void
  /** Ends the connections there are with a TCP reset; new ones are forwarded. */
  reset(): void
  /** Swallows every byte of the connections there are and of new ones, ending none: a half-open link. */
  fallSilent(direction?: Direction): void
  /** Delays, stalls, slices or resets what it forwards, until `heal`. */
  worsen(conditions: Partial<Conditions>): void
  /** Forwards new connections again, perfectly. Silenced ones stay silent. */
  heal(): void
  /** New connections go to the host and port of another URL from now on, as after a fail-over. */
  moveTo(targetUrl: string): void
  close(): Promise<void>
}

type Mode = 'forwarding' | 'cut' | Direction

interface Connection {
  readonly client: Socket
  readonly upstream: Socket
  readonly silenced: Set<Socket>
}

/** Listens on a free loopback port and forwards to the host and port of `targetUrl`. */
export async function openLink(targetUrl: string): Promise<Link> {
  let mode: Mode = 'forwarding'
  let conditions: Conditions = PERFECT
  let target = new URL(targetUrl)
  const connections = new Set<Connection>()

  function accept(client: Socket): void {
    client.on('error', () => undefined)
    if (mode === 'cut') return void client.destroy()
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    upstream.on('error', () => undefined)
    const connection: Connection = { client, upstream, silenced: new Set() }
    connections.add(connection)
    if (mode !== 'forwarding') silence(connection, mode)
    join(connection)
  }

  function join(connection: Connection): void {
    const { client, upstream, silenced } = connection
    const forward = (from: Socket, to: Socket, counted: boolean): void => {
      const flow = createFlow({
        to,
        conditions: () => conditions,
        counted,
        reset: () => drop(connection),
      })
      from.on('data', (chunk: Buffer) => void (silenced.has(from) || flow.write(chunk)))
      from.on('close', () => {
        // The other end may stay open, behind silence: whoever closes the link must find it.
        if (client.destroyed && upstream.destroyed) connections.delete(connection)
        if (!silenced.has(from)) flow.end()
      })
    }
    client.setNoDelay()
    upstream.setNoDelay()
    forward(client, upstream, false)
    forward(upstream, client, true)
  }

  const server = createServer(accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    cut() {
      mode = 'cut'
      for (const connection of connections) end(connection)
    },
    reset() {
      for (const connection of connections) drop(connection)
    },
    fallSilent(direction = 'both') {
      mode = direction
      for (const connection of connections) silence(connection, direction)
    },
    worsen(worse) {
      conditions = { ...PERFECT, ...worse }
    },
    heal() {
      mode = 'forwarding'
      conditions = PERFECT
    },
    moveTo(otherUrl) {
      target = new URL(otherUrl)
    },
    async close() {
      mode = 'cut'
      for (const connection of connections) end(connection)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function silence({ client, upstream, silenced }: Connection, direction: Direction): void {
  if (direction !== 'down') silenced.add(client)
  if (direction !== 'up') silenced.add(upstream)
}

function end({ client, upstream }: Connection): void {
  client.destroy()
  upstream.destroy()
}

function drop({ client, upstream }: Connection): void {
  client.resetAndDestroy()
  upstream.resetAndDestroy()
}
