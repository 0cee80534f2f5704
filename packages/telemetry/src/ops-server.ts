// What an operator's tools ask a process: numbers, is it alive, may it be given work.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limitConnections, transient } from '@baton/runtime'
import type { Metrics } from './metrics.ts'

export interface OpsServerOptions {
  /** Loopback unless somebody decides otherwise: metrics name agents and rates. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly metrics: Pick<Metrics, 'expose'>
  /** Whether work may be sent here. A rejection counts as no. */
  readonly ready: () => boolean | Promise<boolean>
}

export interface OpsServer {
  readonly port: number
  close(): Promise<void>
}

/** Few ask: one that collects metrics, and probes. */
const CONNECTIONS = { max: 64, perAddressMax: 32 }

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const json = (status: number, value: object): Answer => ({
  status,
  contentType: 'application/json',
  body: `${JSON.stringify(value)}\n`,
})

const problem = (status: number, title: string): Answer => ({
  status,
  contentType: 'application/problem+json',
  body: `${JSON.stringify({ type: 'about:blank', title, status })}\n`,
})

async function answerReady(ready: OpsServerOptions['ready']): Promise<Answer> {
  const isReady = await Promise.resolve()
    .then(ready)
    .catch(() => false)
  if (isReady) return json(200, { status: 'ready' })
  return { ...json(503, { status: 'not ready' }), headers: { 'retry-after': '1' } }
}

async function answer(request: IncomingMessage, options: OpsServerOptions): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...problem(405, 'Method Not Allowed'), headers: { allow: 'GET, HEAD' } }
  }
  const path = (request.url ?? '/').split('?', 1)[0]
  if (path === '/metrics') {
    const { contentType, body } = await options.metrics.expose(request.headers.accept)
    return { status: 200, contentType, body, headers: { vary: 'accept' } }
  }
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (path === '/readyz') return answerReady(options.ready)
  return problem(404, 'Not Found')
}

function write(response: ServerResponse, { status, contentType, body, headers }: Answer): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

function listen(server: Server, { host = '127.0.0.1', port }: OpsServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        transient('BATON_OPS_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
          cause,
          fix: 'Choose another port for metrics and health, or stop the process that has it.',
        }),
      )
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Serves /metrics, /healthz and /readyz. Rejects with BATON_OPS_LISTEN_FAILED when it cannot. */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const server = createServer(
    { requestTimeout: 5_000, maxHeaderSize: 8_192 },
    (request, response) => {
      answer(request, options)
        .catch(() => problem(500, 'Internal Server Error'))
        .then((reply) => write(response, reply))
        .catch(() => response.destroy())
    },
  )
  limitConnections(server, CONNECTIONS)
  const port = await listen(server, options)
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
