// `stream`: follows what a handoff's execution yields while it works, and says how it ended.
import { isUuid } from '@baton/protocol/uuid'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withOwnGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { nextStep } from '../terminal/next-steps.ts'

interface StreamPage {
  readonly state: string
  readonly reason: string | null
  readonly committed: number
  readonly ended: boolean
  readonly complete: boolean
  readonly erased: boolean
  readonly chunks: readonly { readonly seq: number; readonly content: unknown }[]
}

interface Followed {
  readonly id: string
  /** The number of the last chunk that is known. */
  readonly after: number
  onChunk(chunk: StreamPage['chunks'][number]): void
}

export async function stream(
  context: Context,
  { id, after }: { readonly id: string; readonly after: number },
): Promise<ExitCode> {
  const { output } = context
  const given = id.trim().toLowerCase()
  if (!isUuid(given)) throw notAnId(id)
  const onChunk: Followed['onChunk'] = (chunk) =>
    output.data(output.json ? JSON.stringify(chunk) : textOf(chunk.content))
  const end = await withOwnGateway(context, (gateway) =>
    follow(gateway, { id: given, after, onChunk }),
  )
  output.words(describe(end))
  output.next(nextStep('tasks'))
  return end.complete ? EXIT.fine : EXIT.failure
}

const WAIT_MS = 250

async function follow(
  gateway: GatewayClient,
  { id, after, onChunk }: Followed,
): Promise<StreamPage> {
  for (let last = after; ;) {
    const page = await gateway.get<StreamPage>(`/v2/handoffs/${id}/chunks?after=${last}`)
    for (const chunk of page.chunks) onChunk(chunk)
    last = page.chunks.at(-1)?.seq ?? last
    if (page.ended && (page.erased || last >= page.committed)) return page
    if (page.chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

// Characters that control a terminal are shown, not obeyed; --json has them as they came.
const textOf = (content: unknown): string =>
  (typeof content === 'string' ? content : JSON.stringify(content)).replaceAll(
    /(?![\n\t])\p{Cc}/gu,
    '\uFFFD',
  )

function describe({ state, reason, committed, complete, erased }: StreamPage): string {
  const why = reason === null ? '' : ` (${reason})`
  if (erased) return `${state}${why}; its ${committed} chunks were erased.`
  return `${state}${why}, ${committed} chunks${complete ? ', all of it' : ': only what there was'}.`
}

const notAnId = (text: string) =>
  permanent('BATON_USAGE', `${JSON.stringify(text)} is not a whole id`, {
    fix: 'Give the UUID of a handoff, as it was answered when it was sent.',
  })
