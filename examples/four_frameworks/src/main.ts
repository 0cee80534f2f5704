// Joins the Baton that `baton env` names, runs the four programs once, and says what came of it.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFour } from './run.ts'

const effects = join(await mkdtemp(join(tmpdir(), 'four-frameworks-')), 'effects.jsonl')
const requestId = process.argv[2] ?? crypto.randomUUID()
const environment = { ...process.env, FOUR_EFFECTS: effects }
const { answer } = await runFour({ environment, requestId })
process.stdout.write(`${answer}\ntask ${requestId}\n`)
