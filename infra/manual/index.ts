// What the tests of other packages ask of the manual.
export { commandsShown } from './commands.ts'
export { readManual } from './pages.ts'
export { typeBlocks } from './run-fences.ts'
