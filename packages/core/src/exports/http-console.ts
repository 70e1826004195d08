export { CONSOLE_HEADERS, messagePage } from '../http/console.ts'
export type { ConsoleFiles, ConsolePage, PageRequest, PageLink } from '../http/console.ts'
