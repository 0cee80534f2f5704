// What an operator's tools ask a process: numbers, is it alive, may it be given work.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refusePlainListening, transient } from '@baton/runtime'
import type { Life, Logger, Service, Tls, TlsClients } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { limitConnections } from './connections.ts'
import { PROBLEM_TYPE, problemBody, ProblemError } from './problem.ts'
import { certificateNeeded, createServerOver, isCertified } from './tls-server.ts'
import type { ServerTls } from './tls-server.ts'

export interface OpsServerOptions {
  /** Loopback unless somebody decides otherwise: metrics name agents and rates. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly metrics: Pick<Metrics, 'expose'>
  /** Whether work may be sent here. A rejection counts as no. */
  readonly ready: () => boolean | Promise<boolean>
  /** Plain HTTP without it. Probes are answered to everybody, metrics only to who has a certificate where clients are to be certified. */
  readonly tls?: ServerTls | undefined
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
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

const json = (status: number, value: object): Answer => ({
  status,
  contentType: 'application/json',
  body: `${JSON.stringify(value)}\n`,
})

const refuse = (problem: ProblemError): Answer => ({
  status: problem.status,
  contentType: PROBLEM_TYPE,
  body: problemBody(problem),
  headers: problem.headers,
})

const METHOD_NOT_ALLOWED = refuse(
  new ProblemError({
    status: 405,
    code: 'BATON_METHOD_NOT_ALLOWED',
    detail: 'this path does not take this method',
    fix: 'Use GET or HEAD.',
    headers: { allow: 'GET, HEAD' },
  }),
)
const ROUTE_UNKNOWN = refuse(
  new ProblemError({
    status: 404,
    code: 'BATON_ROUTE_UNKNOWN',
    detail: 'there is nothing at this path',
    fix: 'Use /metrics, /healthz or /readyz.',
  }),
)
const FAILED = refuse(
  new ProblemError({
    status: 500,
    code: 'BATON_INTERNAL',
    detail: 'the metrics cannot be read',
    fix: 'Read the log of the process.',
  }),
)

async function answerReady(ready: OpsServerOptions['ready']): Promise<Answer> {
  const isReady = await Promise.resolve()
    .then(ready)
    .catch(() => false)
  if (isReady) return json(200, { status: 'ready' })
  return { ...json(503, { status: 'not ready' }), headers: { 'retry-after': '1' } }
}

async function answer(request: IncomingMessage, options: OpsServerOptions): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED
  const path = (request.url ?? '/').split('?', 1)[0]
  if (path === '/metrics') {
    if (options.tls?.clients === 'shown' && !isCertified(request.socket))
      return refuse(certificateNeeded(request.socket))
    const { contentType, body } = await options.metrics.expose(request.headers.accept)
    return { status: 200, contentType, body, headers: { vary: 'accept' } }
  }
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (path === '/readyz') return answerReady(options.ready)
  return ROUTE_UNKNOWN
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
  const server = createServerOver(
    options.tls,
    { requestTimeout: 5_000, maxHeaderSize: 8_192 },
    (request, response) => {
      answer(request, options)
        .catch(() => FAILED)
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

interface OpsServiceOptions extends Pick<OpsServerOptions, 'metrics' | 'ready'> {
  readonly settings: {
    readonly BATON_OPS_HOST: string
    readonly BATON_OPS_PORT: number
    readonly BATON_OPS_TLS_CLIENTS: TlsClients
  }
  readonly tls: Tls
  /** While the process drains it is not ready, whatever `ready` says. */
  readonly life: Pick<Life, 'draining'>
  readonly logger: Logger
}

/** Serves what `startOpsServer` serves, and logs where: `ops.listening`. */
export function createOpsService(options: OpsServiceOptions): Service {
  const { settings, life, metrics, logger, tls } = options
  const ready = async () => !life.draining && (await options.ready())
  const { BATON_OPS_HOST: host, BATON_OPS_PORT: port } = settings
  refusePlainListening(tls, { host, setting: 'BATON_OPS_HOST' })
  const clients: ServerTls['clients'] =
    settings.BATON_OPS_TLS_CLIENTS === 'certified' ? 'shown' : 'any'
  const serverTls = tls.material.certificate === undefined ? undefined : { tls, clients, logger }
  let close = async (): Promise<void> => undefined
  return {
    name: 'ops',
    async start() {
      const server = await startOpsServer({ host, port, metrics, ready, tls: serverTls })
      close = () => server.close()
      logger.info({ event: 'ops.listening', host, port: server.port })
    },
    stop: () => close(),
  }
}
