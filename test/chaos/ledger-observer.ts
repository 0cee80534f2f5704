// Looks on from outside while everything is killed, and keeps every signed checkpoint that it gets to see.
import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pause } from './fault.ts'
import type { LedgerWorld } from './ledger-world.ts'

export const OBSERVED = 'observed.jsonl'

/** A signed note as it was seen. */
export interface ObservedNote {
  readonly from: string
  readonly note: string
}

const LOOK_EVERY_MS = 200
const ANSWER_MAX_MS = 1_000
const CHAINS = 4

interface Observer {
  stop(): Promise<void>
}

/** Asks the auditor for the checkpoint of every log, and reads the sealer's state over its shoulder. */
export function startObserver({ system, ledger, folder }: LedgerWorld): Observer {
  const seen = new Set<string>()
  let stopped = false

  function keep(from: string, note: string): void {
    if (seen.has(note)) return
    seen.add(note)
    appendFileSync(join(folder, OBSERVED), `${JSON.stringify({ from, note })}\n`)
  }

  async function ask(path: string): Promise<void> {
    const response = await fetch(new URL(path, system.auditorUrl), {
      headers: { authorization: `Bearer ${system.tokens.read}` },
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    })
    const body = await response.text()
    if (response.status === 200) keep('auditor', body)
  }

  async function readState(): Promise<void> {
    const state = JSON.parse(await readFile(ledger.files.stateFile, 'utf8')) as SealerState
    keep('sealer state', state.seal.note)
    for (const { note } of state.seal.chains) keep('sealer state', note)
  }

  async function run(): Promise<void> {
    const paths = ['/checkpoint']
    for (let chain = 0; chain < CHAINS; chain += 1) paths.push(`/chains/${chain}/checkpoint`)
    while (!stopped) {
      // Who is down just now shows nothing.
      await Promise.allSettled([...paths.map(ask), readState()])
      await pause(LOOK_EVERY_MS)
    }
  }

  const running = run()
  return {
    async stop() {
      stopped = true
      await running
    },
  }
}

interface SealerState {
  readonly seal: { readonly note: string; readonly chains: readonly { readonly note: string }[] }
}
