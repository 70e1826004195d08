/** The examination cannot run; the message is for the terminal. */
export class CannotRun extends Error {}
