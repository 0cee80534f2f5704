// A TCP link between a process and its server that a test can cut, silence and heal.
import { createServer, connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface Link {
  /** The URL of the target, with this link in between. */
  readonly url: string
  /** Ends all connections and refuses new ones, as a server that is down does. */
  cut(): void
  /** Swallows every byte of the connections there are and of new ones, ending none: a half-open link. */
  fallSilent(): void
  /** Forwards new connections again. Silenced ones stay silent. */
  heal(): void
  close(): Promise<void>
}

type Mode = 'forwarding' | 'cut' | 'silent'

export async function openLink(targetUrl: string): Promise<Link> {
  let mode: Mode = 'forwarding'
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const silenced = new WeakSet<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const silence = (socket: Socket): void => {
    silenced.add(socket)
    socket.removeAllListeners('data').resume()
  }
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => void (silenced.has(from) || to.write(chunk)))
    from.on('close', () => void (silenced.has(from) || to.destroy()))
  }
  const server = createServer((client) => {
    keep(client)
    if (mode === 'cut') return void client.destroy()
    if (mode === 'silent') return silence(client)
    const upstream = keep(connect({ host: target.hostname, port: Number(target.port) }))
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    cut() {
      mode = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    fallSilent() {
      mode = 'silent'
      for (const socket of sockets) silence(socket)
    },
    heal() {
      mode = 'forwarding'
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
