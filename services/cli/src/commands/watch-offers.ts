// `list --watch`: every change of the handoffs of protocol v0.1 as it comes, on stdout or to a webhook.
import { setTimeout as delay } from 'node:timers/promises'
import { createLook, whileWatching } from '@baton/offers'
import type { OfferChange } from '@baton/offers'
import { kindOf, permanent, readTls } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { describeError } from '../terminal/describe-error.ts'
import { withOffers } from './open-offers.ts'

interface WatchOptions {
  readonly status?: string
  readonly webhook?: string
}

/** Between two looks, unless the folder or the database says that something changed. */
const EVERY_MS = 1_000
const PAUSE_MS_MAX = 30_000

export async function watchOffers(context: Context, options: WatchOptions): Promise<ExitCode> {
  const { output, interrupt: signal } = context
  const webhook = await openWebhook(context, options.webhook)
  output.words('Watching until Ctrl-C.')
  try {
    await withOffers(context, ({ offers, storage }) => {
      const look = createLook(offers, async (change) => {
        if (options.status !== undefined && change.handoff.status !== options.status) return
        await webhook?.tell(change)
        output.data(output.json ? JSON.stringify(change) : lineOf(change))
      })
      return whileWatching({ storage, everyMs: EVERY_MS, signal }, patient(context, look))
    })
    return EXIT.fine
  } finally {
    webhook?.close()
  }
}

async function openWebhook({ settings }: Context, url: string | undefined) {
  if (url === undefined) return undefined
  const { HANDOFF_WEBHOOK_SECRET: secret } = settings
  if (secret === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw permanent(
      'BATON_USAGE',
      '--webhook needs an http or https URL and HANDOFF_WEBHOOK_SECRET',
      {
        fix: 'Set HANDOFF_WEBHOOK_SECRET to whsec_ and 24 to 64 random bytes in base64.',
      },
    )
  const { createOfferWebhook } = await import('@baton/offers/webhook')
  return createOfferWebhook({ url, secret, tls: readTls(settings) })
}

// What could not be told is told by the next look: an endpoint that is away misses nothing while this runs.
function patient({ output, interrupt: signal }: Context, look: () => Promise<void>) {
  let failures = 0
  return async (): Promise<void> => {
    try {
      await look()
      failures = 0
    } catch (error) {
      if (kindOf(error) === 'defect') throw error
      if (failures === 0) output.words(`${describeError(error).text}\n  It goes on by itself.`)
      failures += 1
      const pauseMs = Math.min(PAUSE_MS_MAX, EVERY_MS * 2 ** Math.min(failures, 5))
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

const lineOf = ({ handoff, previous }: OfferChange): string => {
  const { task_id: id, status, from_agent: from, to_agent: to } = handoff
  return `${id} ${previous ?? 'new'} → ${status}, ${from} → ${to === '' ? 'anyone' : to}`
}
