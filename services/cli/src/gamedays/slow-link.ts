// A TCP link to a server over which every piece takes so many milliseconds longer, in both directions.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface SlowLink {
  /** The URL of the target, with this link in between. */
  readonly url: string
  close(): Promise<void>
}

/** Listens on a free loopback port. The order of pieces is kept, as all of them wait for the same time. */
export async function openSlowLink(targetUrl: string, latencyMs: number): Promise<SlowLink> {
  const target = new URL(targetUrl)
  const open = new Set<Socket>()

  function forward(from: Socket, to: Socket): void {
    open.add(from)
    from.setNoDelay()
    from.on('error', () => to.destroy())
    from.on('data', (piece: Buffer) => {
      setTimeout(() => void (to.writable && to.write(piece)), latencyMs)
    })
    from.on('close', () => {
      open.delete(from)
      setTimeout(() => to.destroy(), latencyMs)
    })
  }

  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
