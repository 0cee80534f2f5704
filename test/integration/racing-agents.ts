// An agent as a process of its own: accepts one handoff so many times at once, when it is told to, and says who won.
import { createInterface } from 'node:readline'
import { createOffers, openFolder } from '@baton/offers'

const [folder = '', taskId = '', name = '', times = '1'] = process.argv.slice(2)
const offers = createOffers({ storage: openFolder(folder) })

async function accept(agent: string): Promise<string> {
  try {
    await offers.acceptHandoff(taskId, agent)
    return `won ${agent}`
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

process.stdout.write('ready\n')

async function race(): Promise<void> {
  const tries = Array.from({ length: Number(times) }, (_, index) => accept(`${name}-${index}`))
  process.stdout.write(`${(await Promise.all(tries)).join('\n')}\ndone\n`)
  process.exit(0)
}

createInterface(process.stdin).once('line', () => void race())
