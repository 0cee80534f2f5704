// A TCP link to a server over which every piece takes as many milliseconds longer as it is told, in both directions.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface SlowLink {
  /** The URL of the target, with this link in between. */
  readonly url: string
  /** What is on its way keeps its own delay. */
  delay(latencyMs: number): void
  close(): Promise<void>
}

/** Listens on a free loopback port, and delays nothing at first. The delay may only rise: pieces keep their order then. */
export async function openSlowLink(targetUrl: string): Promise<SlowLink> {
  let latencyMs = 0
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
    delay(ms) {
      latencyMs = ms
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
