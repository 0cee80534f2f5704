// The one HTTP server of a campaign's peers and agents outside: each has a path of its own.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export interface PeerServer {
  urlOf(path: string): string
  /** Who answers at a path; until then it is 503. */
  serve(path: string, handler: Handler): void
  close(): Promise<void>
}

export async function openPeerServer(): Promise<PeerServer> {
  const handlers = new Map<string, Handler>()
  const server = createServer((request, response) => {
    const handler = handlers.get(request.url ?? '')
    if (handler === undefined) return void response.writeHead(503).end()
    // Whoever hung up in the middle of a request gets no answer.
    handler(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    serve: (path, handler) => void handlers.set(path, handler),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
