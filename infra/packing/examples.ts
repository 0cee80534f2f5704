// The examples of a package's README, as they stand there: each TypeScript block is a whole program, and a text block behind it is
// what it prints.

export interface Example {
  readonly package: string
  /** Of its file. */
  readonly name: string
  readonly program: string
  /** Undefined where the page does not say. */
  readonly prints: string | undefined
  /** Whether it joins the Baton that `baton env` names. */
  readonly needsBaton: boolean
}

const BLOCK = /^```ts( needs-baton)?\n(.*?)^```\n(?:\s*It prints\s*```text\n(.*?)^```)?/gms

export function examplesOf(name: string, page: string): readonly Example[] {
  const short = name.slice('@baton/'.length)
  return [...page.matchAll(BLOCK)].map(([, needs, program = '', prints], index) => ({
    package: name,
    name: `${short}-${index + 1}.ts`,
    program,
    prints,
    needsBaton: needs !== undefined,
  }))
}

/** What is typed into a shell where a Baton runs. */
export interface Commands {
  readonly package: string
  readonly typed: string
}

export const commandsOf = (name: string, page: string): readonly Commands[] =>
  [...page.matchAll(/^```sh needs-baton\n(.*?)^```$/gms)].map(([, typed = '']) => ({
    package: name,
    typed,
  }))
