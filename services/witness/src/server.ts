// The witness over HTTP: POST add-checkpoint with the statuses of C2SP tlog-witness, GET what it cosigned last, and health.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { limitConnections } from '@baton/http/connections'
import { createServerOver } from '@baton/http/server'
import type { ServerTls } from '@baton/http/server'
import { codeOf } from '@baton/runtime'
import { readAddCheckpoint } from './read-request.ts'
import type { Witness, WitnessAnswer } from './witnessed-logs.ts'

/** Few ask: the sealer, and probes. */
const CONNECTIONS = { max: 64, perAddressMax: 32 }
/** A checkpoint with a hundred signatures and a proof is far below this. */
const BODY_BYTES_MAX = 65_536

interface Answer {
  readonly status: number
  readonly body: string
}

export function createWitnessServer(witness: Witness, tls: ServerTls): Server {
  const { logger } = tls
  const server = createServerOver(tls, { requestTimeout: 5_000 }, (request, response) => {
    respond(request, witness)
      .catch((error: unknown) => {
        logger.error({ event: 'witness.failed', code: codeOf(error), error })
        return { status: 500, body: 'the witness failed\n' }
      })
      .then((answer) => write(response, answer))
      .catch(() => response.destroy())
  })
  limitConnections(server, CONNECTIONS)
  return server
}

async function respond(request: IncomingMessage, witness: Witness): Promise<Answer> {
  const path = (request.url ?? '/').split('?', 1)[0]
  if (path === '/healthz' && request.method === 'GET') return { status: 200, body: 'ok\n' }
  const watched = MONITORED.exec(path ?? '')?.[1]
  if (watched !== undefined && request.method === 'GET') {
    const body = witness.latest(watched)
    return body === undefined
      ? { status: 404, body: 'nothing is cosigned\n' }
      : { status: 200, body }
  }
  if (path !== '/add-checkpoint') return { status: 404, body: 'there is nothing here\n' }
  if (request.method !== 'POST') return { status: 405, body: 'use POST\n' }
  const body = await readBody(request)
  const added = body === undefined ? undefined : readAddCheckpoint(body)
  if (added === undefined) return { status: 400, body: 'not an add-checkpoint request\n' }
  return witness.add(added)
}

/** By the SHA-256 of its origin. */
const MONITORED = /^\/([0-9a-f]{64})\/checkpoint$/

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > BODY_BYTES_MAX) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

const SIZE_TYPE = 'text/x.tlog.size'

function write(response: ServerResponse, { status, body }: Answer | WitnessAnswer): void {
  response.writeHead(status, {
    'content-type': status === 409 ? SIZE_TYPE : 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
