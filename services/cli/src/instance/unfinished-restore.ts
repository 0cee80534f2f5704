// An instance that is being restored is never begun anew: until its databases are back, what makes an empty one refuses.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasPostgresData } from '@baton/embedded'
import { permanent, replaceFile } from '@baton/runtime'
import type { Context } from '../context.ts'

const noteIn = (home: string): string => join(home, 'restoring.json')
const dataOf = (home: string): string => join(home, 'pg')

/**
 * Leaves a note in the home that `work` takes away by succeeding, and so by leaving the databases of before as they were. A failure and a
 * kill leave it where there is no database.
 */
export async function untilRestored<Result>(
  { home }: Pick<Context, 'home'>,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  await replaceFile(noteIn(home), `${JSON.stringify({ began: new Date().toISOString() })}\n`)
  try {
    return await work()
  } finally {
    if (await hasPostgresData(dataOf(home))) await rm(noteIn(home), { force: true })
  }
}

/** Throws BATON_RESTORE_UNFINISHED where a restore was begun and there is no database yet. */
export async function refuseWhileRestored(home: string): Promise<void> {
  const note = noteIn(home)
  if (!existsSync(note) || (await hasPostgresData(dataOf(home)))) return
  throw unfinished(note, await beganAt(note))
}

/** What is not readable was begun as well. */
async function beganAt(note: string): Promise<string> {
  try {
    const { began } = JSON.parse(await readFile(note, 'utf8')) as { readonly began: string }
    return began
  } catch {
    return 'some time'
  }
}

const unfinished = (note: string, began: string) =>
  permanent(
    'BATON_RESTORE_UNFINISHED',
    `there is no database here: a restore of it was begun at ${began}, and did not come to its end`,
    {
      fix: `Run that \`restore\` again; infra/backup.md tells what to do where it does not. To begin an empty instance instead, delete ${note}.`,
    },
  )
