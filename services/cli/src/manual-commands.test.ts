// No page shows a command, an option or an argument that this command line does not know.
import { commandsShown, readManual } from '@baton/infra/manual'
import { describe, expect, it } from 'vitest'
import { runProgram } from './program.ts'

class Understood extends Error {}

/** What the command line says about the words; undefined where it would have run them. */
async function complaintAbout(words: readonly string[]): Promise<string | undefined> {
  let said = ''
  try {
    await runProgram(words, {
      openContext: () => {
        throw new Understood()
      },
      writeOut: () => undefined,
      writeError: (text) => (said += text),
    })
  } catch (error) {
    if (error instanceof Understood) return undefined
    throw error
  }
  return said === '' ? undefined : said.split('\n')[0]
}

/** A command that is only named may lack what it needs, or be one that has others below it. */
const LACKING = /missing required argument|required option|^Usage: /
/** A word in capitals stands for what the reader has, a number for instance. */
const STANDS_FOR_A_VALUE = /argument '[A-Z]+' is invalid/

const shown = readManual().pages.flatMap(({ source, body }) =>
  commandsShown(body).map((command) => ({ source, ...command })),
)

describe('the commands of the manual', () => {
  it('are many', () => expect(shown.length).toBeGreaterThan(200))

  it('are known, with their options and arguments', async () => {
    const wrong: string[] = []
    for (const { source, text, words, mentioned } of shown) {
      const complaint = await complaintAbout(words)
      if (complaint === undefined || STANDS_FOR_A_VALUE.test(complaint)) continue
      if (mentioned && LACKING.test(complaint)) continue
      wrong.push(`${source}: ${text}: ${complaint}`)
    }
    expect(wrong).toEqual([])
  })

  it.each([
    ['dlq', 'relase', 'x'],
    ['verify', '--polcy', 'x'],
    ['trace', 'a', 'b'],
  ])('are refused where they are not, such as %s %s %s', async (...words) =>
    expect(await complaintAbout(words)).toMatch(/^error: /),
  )
})
