import * as Dialog from "@radix-ui/react-dialog";
import { useChat, usePage } from "./App";

export function RateLimitDialog() {
  const { chat } = usePage();
  const { rateLimited } = useChat();
  return (
    <Dialog.Root open={rateLimited} onOpenChange={(open) => !open && chat.dismiss()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog">
          <Dialog.Title>Too many requests</Dialog.Title>
          <Dialog.Description>
            You are making requests too quickly. Access to your conversations is limited for now. Please wait a few minutes and try again.
          </Dialog.Description>
          <div className="dialog-buttons">
            <Dialog.Close type="button" className="primary">
              Got it
            </Dialog.Close>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** What stands where an answer should be after it failed. It has no role, as on the real site. */
export function ErrorCard({ text }: { text: string }) {
  const { chat } = usePage();
  return (
    <div className="error-card">
      <span>{text}</span>
      <button type="button" onClick={() => chat.retry()}>
        Retry
      </button>
    </div>
  );
}
