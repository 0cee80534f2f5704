// Two agents and a folder: one finds what is to be reviewed and offers it, the other one takes it and says what it found.
import { createOffers, openFolder } from '@baton/offers'
import type { OfferedHandoff } from '@baton/offers'

const folder = process.argv[2] ?? '.handoffs'

// Each has only the folder; they could as well be two programs on two machines, in two languages.
const scanner = createOffers({ storage: openFolder(folder) })
const reviewer = createOffers({ storage: openFolder(folder) })

const FILES = ['src/auth.py', 'src/billing.py', 'vendor/zlib.c']

async function scan(): Promise<void> {
  for (const file of FILES) {
    const offered = await scanner.createHandoff({
      description: 'Review this file for timing attacks',
      from_agent: 'scanner',
      to_agent: 'reviewer',
      context: { file, tags: ['security'] },
    })
    say('scanner', 'offers', offered)
  }
}

async function review(): Promise<void> {
  for (const { task_id: id } of await reviewer.listAvailable('reviewer')) {
    const accepted = await reviewer.acceptHandoff(id, 'reviewer')
    say('reviewer', 'accepts', accepted)
    const file = fileOf(accepted)
    if (file.endsWith('.c')) {
      say(
        'reviewer',
        'fails',
        await reviewer.failHandoff(id, { context: { reason: 'reads no C' } }),
      )
    } else {
      const findings = file.includes('auth') ? 1 : 0
      say('reviewer', 'completes', await reviewer.completeHandoff(id, { context: { findings } }))
    }
  }
}

/** What failed is offered again, and this time declined for good. */
async function wrapUp(): Promise<void> {
  const { handoffs: failed } = await scanner.listHandoffs({ status: 'failed' })
  for (const { task_id: id } of failed) {
    say('scanner', 'offers again', await scanner.reofferHandoff(id))
    say('reviewer', 'rejects', await reviewer.rejectHandoff(id, { agent: 'reviewer' }))
  }
  const { handoffs } = await scanner.listHandoffs({ status: 'completed' })
  const findings = handoffs.reduce((sum, { context }) => sum + Number(context['findings']), 0)
  process.stdout.write(`${handoffs.length} files reviewed, findings: ${findings}\n`)
}

const fileOf = ({ context: { file } }: OfferedHandoff): string =>
  typeof file === 'string' ? file : 'no file'

function say(agent: string, what: string, handoff: OfferedHandoff): void {
  process.stdout.write(`${agent} ${what} ${fileOf(handoff)} (${handoff.status})\n`)
}

await scan()
await review()
await wrapUp()
