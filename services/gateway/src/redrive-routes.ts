// Many dead letters at once: try out what would happen, and send back what would pass, canary first.
import type { FastifyInstance } from 'fastify'
import { startRedrive, stopRedrive, tryOut } from '@baton/engine'
import type { LeftOut, TriedLetter } from '@baton/engine'
import type { KeyRing } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import { findRedrive, listClusterLetters } from '@baton/store'
import type { Pool } from '@baton/store'
import { bodyOf, operatorOf } from './acting.ts'
import { ProblemError } from './problem.ts'
import { readUuid } from './read-parameters.ts'
import type { ById } from './read-parameters.ts'
import { requireScope } from './request-context.ts'
import {
  DRY_RUN_MAX,
  DRY_RUN_REQUEST,
  EMPTY_REQUEST,
  RATE_DEFAULT,
  REDRIVE_MAX,
  REDRIVE_REQUEST,
} from './review-schema.ts'
import { showRedrive } from './review-views.ts'

interface RedriveRouteOptions {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly scanner: Scanner
  readonly logger: Logger
}

interface Selection {
  readonly handoffIds?: readonly string[]
  readonly cluster?: string
}

export function addRedriveRoutes(server: FastifyInstance, options: RedriveRouteOptions): void {
  const { pool, scanner, logger } = options
  const onlyRedrivers = { preParsing: requireScope('dead-letters:redrive') }

  server.post('/v2/dead-letters/dry-run', onlyRedrivers, async (request) => {
    const asked = bodyOf<Selection>(request, DRY_RUN_REQUEST)
    const handoffIds = await select(options, asked, DRY_RUN_MAX)
    const tried = await tryOut(options, handoffIds)
    const found = new Set(tried.map(({ handoffId }) => handoffId))
    const gone = handoffIds.filter((handoffId) => !found.has(handoffId))
    return {
      scanner: scanner.artefactId,
      wouldPass: tried.filter(({ wouldPass }) => wouldPass).length,
      letters: tried.map(showTried),
      notWaiting: gone,
    }
  })

  server.post('/v2/dead-letters/redrive', onlyRedrivers, async (request, reply) => {
    const asked = bodyOf<Selection & { ratePerSecond?: number }>(request, REDRIVE_REQUEST)
    const createdBy = operatorOf(request)
    const started = await startRedrive(options, {
      handoffIds: await select(options, asked, REDRIVE_MAX),
      cluster: asked.cluster ?? null,
      createdBy,
      ratePerSecond: asked.ratePerSecond ?? RATE_DEFAULT,
    })
    const { redriveId, taken, leftOut } = started
    if (redriveId === undefined) throw nothingPasses(leftOut)
    logger.info({ event: 'redrive.started', redriveId, operator: createdBy, letters: taken })
    const redrive = await findRedrive(pool, redriveId)
    const shown = redrive === undefined ? {} : showRedrive(redrive)
    return reply
      .code(202)
      .header('location', `/v2/dead-letters/redrives/${redriveId}`)
      .send({ ...shown, redriveId, taken, leftOut })
  })

  server.get<ById>('/v2/dead-letters/redrives/:id', onlyRedrivers, async ({ params }) =>
    readRedrive(options, params.id),
  )

  server.delete<ById>('/v2/dead-letters/redrives/:id', onlyRedrivers, async (request) => {
    bodyOf(request, EMPTY_REQUEST)
    const redriveId = readUuid(request.params.id, 're-drive')
    const operator = operatorOf(request)
    const canceled = await stopRedrive(pool, redriveId, operator)
    if (canceled) logger.info({ event: 'redrive.canceled', redriveId, operator })
    return readRedrive(options, redriveId)
  })
}

async function readRedrive({ pool }: RedriveRouteOptions, id: string): Promise<object> {
  const redrive = await findRedrive(pool, readUuid(id, 're-drive'))
  if (redrive === undefined) throw REDRIVE_UNKNOWN
  return showRedrive(redrive)
}

async function select(
  { pool }: RedriveRouteOptions,
  { handoffIds, cluster }: Selection,
  most: number,
): Promise<readonly string[]> {
  if (handoffIds !== undefined && cluster === undefined) return [...new Set(handoffIds)]
  if (cluster !== undefined && handoffIds === undefined)
    return listClusterLetters(pool, cluster, most)
  throw ONE_SELECTION
}

const showTried = ({ handoffId, wouldPass, reason, details, agents }: TriedLetter) => ({
  handoffId,
  wouldPass,
  reason,
  details,
  agents,
})

const ONE_SELECTION = new ProblemError({
  status: 422,
  code: 'BATON_REQUEST_INVALID',
  detail: 'Either handoffIds or a cluster says which dead letters are meant',
  fix: 'Send one of the two.',
})

const REDRIVE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_REDRIVE_UNKNOWN',
  detail: 'There is no re-drive with this id',
  fix: 'Use the redriveId that POST /v2/dead-letters/redrive answered.',
})

const ITEMS_MAX = 50

const nothingPasses = (leftOut: readonly LeftOut[]) =>
  new ProblemError({
    status: 409,
    code: 'BATON_REDRIVE_EMPTY',
    detail: 'None of these dead letters can go back to the queue as it is',
    fix: 'A dry run says why; what the scanner still rejects needs two reviewers to release it.',
    errors: leftOut.slice(0, ITEMS_MAX).map(({ handoffId, reason }, index) => ({
      pointer: `/handoffIds/${index}`,
      rule: reason,
      detail: `${handoffId}: ${reason}`,
      fix: 'Release, redact or discard it, or ask its sender.',
    })),
  })
