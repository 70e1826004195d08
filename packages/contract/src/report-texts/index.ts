export { figureText, percentOf, unitText } from './figures.ts'
export { THRESHOLD_LABELS } from './figures.ts'
export { dayText, momentText, periodText } from './figures.ts'
export * from './words.ts'
