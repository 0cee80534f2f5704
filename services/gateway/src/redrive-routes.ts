// Many dead letters at once: try out what would happen, and send back what would pass, canary first.
import type { FastifyInstance } from 'fastify'
import { startRedrive, stopRedrive, tryOut } from '@baton/engine'
import type { LeftOut, TriedDeadLetter } from '@baton/engine'
import type { KeyRing } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import { countDeadLetters, findRedrive, listClusterDeadLetters } from '@baton/store'
import type { Pool } from '@baton/store'
import { operatorOf } from './acting.ts'
import { totalOf } from './cursor.ts'
import { ProblemError } from '@baton/http/server'
import { answers, only, onlyById, ref } from './operation.ts'
import type { ById } from './operation.ts'
import { reviewProblems } from './review-routes.ts'
import { DRY_RUN_MAX, RATE_DEFAULT, REDRIVE_MAX } from './review-schema.ts'
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

export function addRedriveRoutes(scope: FastifyInstance, options: RedriveRouteOptions): void {
  const { pool, scanner, logger } = options

  scope.post<{ Body: Selection }>('/dead-letters/dry-run', DRY_RUN, async (request) => {
    const handoffIds = await select(options, request.body, DRY_RUN_MAX)
    const tried = await tryOut(options, handoffIds)
    const found = new Set(tried.map(({ handoffId }) => handoffId))
    const gone = handoffIds.filter((handoffId) => !found.has(handoffId))
    const { cluster } = request.body
    const count =
      cluster === undefined ? handoffIds.length : await countDeadLetters(pool, { cluster })
    return {
      ...totalOf(count),
      scanner: scanner.rulesetVersion,
      wouldPass: tried.filter(({ wouldPass }) => wouldPass).length,
      letters: tried.map(showTried),
      notWaiting: gone,
    }
  })

  scope.post<{ Body: Selection & { ratePerSecond?: number } }>(
    '/dead-letters/redrive',
    REDRIVE,
    async (request, reply) => {
      const asked = request.body
      const createdBy = operatorOf(request)
      const started = await startRedrive(options, {
        handoffIds: await select(options, asked, REDRIVE_MAX),
        cluster: asked.cluster ?? null,
        createdBy,
        ratePerSecond: asked.ratePerSecond ?? RATE_DEFAULT,
      })
      const { redriveId, taken, leftOut } = started
      if (redriveId === undefined) throw nothingPasses(leftOut)
      logger.info({ event: 'redrive.started', redriveId, operator: createdBy, deadLetters: taken })
      const redrive = await findRedrive(pool, redriveId)
      const shown = redrive === undefined ? {} : showRedrive(redrive)
      return reply
        .code(202)
        .header('location', `/v2/dead-letters/redrives/${redriveId}`)
        .send({ ...shown, redriveId, taken, leftOut })
    },
  )

  scope.get<ById>('/dead-letters/redrives/:id', GET_REDRIVE, ({ params }) =>
    readRedrive(options, params.id),
  )

  scope.delete<ById>('/dead-letters/redrives/:id', CANCEL_REDRIVE, async (request) => {
    const redriveId = request.params.id
    const operator = operatorOf(request)
    const canceled = await stopRedrive(pool, redriveId, operator)
    if (canceled) logger.info({ event: 'redrive.canceled', redriveId, operator })
    return readRedrive(options, redriveId)
  })
}

const DRY_RUN = only('dead-letters:redrive', {
  operationId: 'dryRunDeadLetters',
  summary: "Judge stored messages by today's schema, scanner and agents; nothing is enqueued",
  body: ref('DryRunRequest'),
  response: {
    200: answers('What would happen to each', 'DryRunResult'),
    ...reviewProblems([422]),
  },
})

const REDRIVE = only('dead-letters:redrive', {
  operationId: 'redriveDeadLetters',
  summary: 'Send back what would pass: a canary of five first, the rest at a bounded rate',
  body: ref('RedriveRequest'),
  response: {
    202: answers('Begun; leftOut stays where it is', 'Redrive'),
    ...reviewProblems([422], { 409: 'None of them can go back as it is' }),
  },
})

const UNKNOWN = { 404: 'There is no such re-drive' }

const GET_REDRIVE = onlyById('re-drive', 'dead-letters:redrive', {
  operationId: 'getRedrive',
  summary: 'A bulk re-drive with its counts',
  response: { 200: answers('The re-drive', 'Redrive'), ...reviewProblems([], UNKNOWN) },
})

const CANCEL_REDRIVE = onlyById('re-drive', 'dead-letters:redrive', {
  operationId: 'cancelRedrive',
  summary: 'Stop a bulk re-drive; what went back already goes on',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: { 200: answers('The re-drive, ended', 'Redrive'), ...reviewProblems([422], UNKNOWN) },
})

async function readRedrive({ pool }: RedriveRouteOptions, id: string): Promise<object> {
  const redrive = await findRedrive(pool, id)
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
    return listClusterDeadLetters(pool, cluster, most)
  throw ONE_SELECTION
}

const showTried = ({ handoffId, wouldPass, reason, details, agents }: TriedDeadLetter) => ({
  handoffId,
  wouldPass,
  reason,
  details,
  agents,
})

const ONE_SELECTION = new ProblemError({
  status: 422,
  code: 'BATON_REQUEST_INVALID',
  detail: 'either handoffIds or a cluster says which dead letters are meant',
  fix: 'Send one of the two.',
})

const REDRIVE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_REDRIVE_UNKNOWN',
  detail: 'there is no re-drive with this id',
  fix: 'Use the redriveId that POST /v2/dead-letters/redrive answered.',
})

const ITEMS_MAX = 50

const nothingPasses = (leftOut: readonly LeftOut[]) =>
  new ProblemError({
    status: 409,
    code: 'BATON_REDRIVE_EMPTY',
    detail: 'none of these dead letters can go back to the queue as it is',
    fix: 'A dry run says why; what the scanner still rejects needs two reviewers to release it.',
    errors: leftOut.slice(0, ITEMS_MAX).map(({ handoffId, reason }, index) => ({
      pointer: `/handoffIds/${index}`,
      rule: reason,
      detail: `${handoffId}: ${reason}`,
      fix: 'Release, redact or discard it, or ask its sender.',
    })),
  })
