// GET /checkpoint and /tile/...: the seal log as C2SP tlog-tiles has it, each chain below /chains/{n}, and the nodes of the map of tasks.
import {
  readChainCheckpoints,
  readLastSeal,
  readTaskMapNodes,
  readTile,
  readWitnessed,
} from '@baton/audit'
import type { Pool, TiledLog } from '@baton/audit'
import { bearerOf, matcherOf, ProblemError } from '@baton/http/server'
import { parseTilePath } from '@baton/ledger'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core, Part } from './core.ts'
import { refusing } from './problem.ts'

interface Published {
  readonly size: number
  readonly note: string
}

interface ByChain {
  Params: { readonly chain?: string; readonly '*'?: string }
}

/** A version of the map of tasks by how many seals it holds, and a node of it by its digits. */
interface ByNode {
  Params: { readonly seals: string; readonly node: string }
}

/** The name of the root in a path; everywhere else it is the empty text. */
const ROOT = 'root'

/** Tiles are served for published checkpoints only, so that a proof never mixes two states. */
export const createTilePart = (core: Core): Part => ({
  prepare(server) {
    const { reader, cold } = core
    const mayRead = tileReaders(core)
    const onRequest = async ({ headers }: FastifyRequest) => mayRead(headers.authorization)
    const options = { onRequest, exposeHeadRoute: true, ...TILES }
    for (const prefix of ['', '/chains/:chain']) {
      server.get<ByChain>(`${prefix}/checkpoint`, options, async ({ params }, reply) => {
        const { note } = await published(reader, logOf(params))
        return send(reply, { type: 'text/plain; charset=utf-8', body: Buffer.from(note) })
      })
      server.get<ByChain>(`${prefix}/tile/*`, options, async ({ params }, reply) => {
        const tile = parseTilePath(`tile/${params['*'] ?? ''}`)
        const log = logOf(params)
        const { size } = await published(reader, log)
        const body = tile && (await readTile(reader, log, { tile, size, cold }))
        if (body === undefined) throw NO_SUCH_TILE
        reply.header('cache-control', 'private, max-age=31536000, immutable')
        return send(reply, { type: 'application/octet-stream', body })
      })
    }
    server.get<ByNode>(
      '/tasks/:seals/:node',
      { onRequest, ...NODES },
      async ({ params }, reply) => {
        const name = params.node === ROOT ? '' : params.node
        const body = (await readTaskMapNodes(reader, Number(params.seals), [name])).get(name)
        if (body === undefined) throw NO_SUCH_NODE
        return send(reply, { type: 'application/octet-stream', body })
      },
    )
  },
})

/** Who reads everything, and whoever has the token for checkpoints and tiles alone. */
function tileReaders({
  settings,
  callers,
}: Core): (authorization: string | undefined) => Promise<void> {
  const { BATON_AUDIT_READ_TOKEN: all, BATON_AUDIT_TILES_TOKEN: tiles } = settings
  const mayRead = callers.guard('read', all)
  const isTiles = tiles === undefined ? () => false : matcherOf(tiles)
  return async (authorization) => {
    if (!isTiles(bearerOf(authorization) ?? '')) await mayRead(authorization)
  }
}

const logOf = ({ chain }: ByChain['Params']): TiledLog =>
  chain === undefined ? 'seals' : { chain: Number(chain) }

/** The newest checkpoint; of the seal log the cosigned one where it is as new. */
async function published(reader: Pool, log: TiledLog): Promise<Published> {
  const found = log === 'seals' ? await sealLog(reader) : await chainOf(reader, log.chain)
  if (found !== undefined) return found
  throw NOT_PUBLISHED
}

async function sealLog(reader: Pool): Promise<Published | undefined> {
  const last = await readLastSeal(reader)
  if (last === undefined) return undefined
  const size = last.seq + 1
  const witnessed = await readWitnessed(reader)
  return witnessed?.size === size ? witnessed : { size, note: last.note }
}

const chainOf = async (reader: Pool, chain: number): Promise<Published | undefined> =>
  (await readChainCheckpoints(reader)).find((one) => one.chain === chain)

const send = (reply: FastifyReply, { type, body }: { type: string; body: Uint8Array }) =>
  reply.header('content-type', type).send(Buffer.from(body))

const NOT_PUBLISHED = new ProblemError({
  status: 404,
  code: 'BATON_CHECKPOINT_UNKNOWN',
  detail: 'there is no signed checkpoint of this log',
  fix: 'Give the number of a chain; a checkpoint exists once the sealer has signed one.',
})

const TILES = {
  schema: {
    params: { type: 'object', properties: { chain: { type: 'string', pattern: '^[0-9]{1,4}$' } } },
  },
  schemaErrorFormatter: refusing({ params: NOT_PUBLISHED }),
}

const NO_SUCH_TILE = new ProblemError({
  status: 404,
  code: 'BATON_TILE_UNKNOWN',
  detail: 'the published tree has no such tile',
  fix: 'Ask for tiles as C2SP tlog-tiles names them, no wider than the checkpoint says.',
})

const NO_SUCH_NODE = new ProblemError({
  status: 404,
  code: 'BATON_TASK_MAP_NODE_UNKNOWN',
  detail: 'this version of the map of tasks has no such node, or it is no longer kept',
  fix: 'Read a fresh entry of the seal log, and ask for /tasks/{seals}/root and then along the digits of the task.',
})

export const NODES = {
  schema: {
    params: {
      type: 'object',
      properties: {
        seals: { type: 'string', pattern: '^[1-9][0-9]{0,14}$' },
        node: { type: 'string', pattern: `^(?:${ROOT}|[0-9a-f]{1,24})$` },
      },
    },
  },
  schemaErrorFormatter: refusing({ params: NO_SUCH_NODE }),
}
